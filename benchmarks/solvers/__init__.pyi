from .peers import PEERS as PEERS
from .peers import Peer as Peer
from .report import Report as Report
from .running import BenchLimits as BenchLimits
from .running import bench as bench
from .suite import BenchGame as BenchGame
from .suite import read_suite as read_suite
