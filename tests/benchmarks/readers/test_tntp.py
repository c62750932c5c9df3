"""Road networks in the TNTP format, on small files written here."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.readers import read_network
from relaxboost._core.errors import InputError
from tests.benchmarks.readers.made import changed, check_unreadable, write

NET = """<NUMBER OF ZONES> 2\t\t
<NUMBER OF NODES> 4\t
<FIRST THRU NODE> 3
<NUMBER OF LINKS> 4
<ORIGINAL HEADER>~ Tail Head ;
<END OF METADATA>\t\t

~\tinit_node\tterm_node\tcapacity\tlength\tfree_flow_time\tb\tpower\tspeed\ttoll\tlink_type\t;
\t1\t3\t9000\t5280\t1.09\t0.15\t4\t4842\t0\t1\t;
\t3\t4\t100\t2\t0\t0.15\t4\t0\t-0.5\t2\t;
\t4\t2\t25900.2\t6\t6\t0.15\t4\t0\t0\t1\t;
\t2\t3\t5e3\t4\t4\t0.2\t5\t0\t0\t3;
"""
FLOW = """From \tTo \tVolume \tCost
2 \t3 \t20.5 \t4.5
1 \t3 \t7074.9 \t1.15
4 \t2 \t0 \t6
3 \t4 \t9662.5 \t1.3
"""
NODES = """node\tX\tY\t;
1\t-117.5\t33\t;
3\t0\t0\t;
2\t1e3\t2\t;
4\t5\t6\t;
"""


def test_a_network(tmp_path):
    network = read_network(write(tmp_path / "Small_net.tntp", NET))
    assert network[:4] == ("Small", 4, 2, 3)
    assert network.tail.tolist() == [1, 3, 4, 2]
    assert network.head.tolist() == [3, 4, 2, 3]
    assert network.tail.dtype == network.head.dtype == np.int64
    assert list(network.attributes) == [
        "capacity", "length", "free_flow_time", "b", "power", "speed", "toll", "link_type",
    ]  # fmt: skip
    assert network.attributes["capacity"].tolist() == [9000, 100, 25900.2, 5000]
    assert network.attributes["toll"].tolist() == [0, -0.5, 0, 0]
    assert network.attributes["link_type"].tolist() == [1, 2, 1, 3]
    assert network.position is None


@pytest.mark.parametrize("packed", [False, True])
def test_flows_and_positions_are_matched_and_not_in_their_order(tmp_path, packed):
    path = write(tmp_path / "Small_net.tntp", NET, packed)
    flow = write(tmp_path / "Small_flow.tntp", FLOW, packed)
    nodes = write(tmp_path / "Small_node.tntp", NODES, packed)
    network = read_network(path, flow, str(nodes))
    assert network.name == "Small"
    assert network.attributes["volume"].tolist() == [7074.9, 9662.5, 0, 20.5]
    assert network.attributes["cost"].tolist() == [1.15, 1.3, 6, 4.5]
    assert network.position.tolist() == [[-117.5, 33], [1000, 2], [0, 0], [5, 6]]


def test_other_spellings_of_flows(tmp_path):
    path = write(tmp_path / "Small_net.tntp", NET)
    text = FLOW.replace("From \tTo \tVolume \tCost", "<NUMBER OF LINKS> 4\n~ Tail Head : Volume ;")
    text = text.replace("1 \t3 \t", "1 3 : ").replace("\n4", " ;\n4")
    assert read_network(path, write(tmp_path / "flow", text)).attributes["volume"][0] == 7074.9


def test_several_links_between_two_nodes_have_their_flows_in_order(tmp_path):
    text = changed(NET, "\t4\t2\t25900.2", "\t3\t4\t25900.2")
    path = write(tmp_path / "Small_net.tntp", text)
    flow = write(tmp_path / "flow", changed(FLOW, "4 \t2 \t0 \t6", "3 \t4 \t1 \t6"))
    assert read_network(path, flow).attributes["volume"].tolist() == [7074.9, 1, 9662.5, 20.5]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<NUMBER OF ZONES> 2\n", "its metadata lack <NUMBER OF NODES>"),
        (NET.split("\n~")[0], "0 links, and its metadata say 4"),
        (changed(NET, "<NUMBER OF NODES> 4\t\n", ""), "its metadata lack <NUMBER OF NODES>"),
        (
            changed(NET, "<NUMBER OF NODES> 4", "<NUMBER OF NODES> 4.5"),
            "its metadata lack <NUMBER OF NODES>, a whole number",
        ),
        (
            changed(NET, "<NUMBER OF NODES> 4", "<NUMBER OF NODES>"),
            "its metadata lack <NUMBER OF NODES>, a whole number",
        ),
        (changed(NET, "<NUMBER OF ZONES> 2", "NUMBER OF ZONES 2"), "lack <NUMBER OF ZONES>"),
        (changed(NET, "ZONES> 2", "ZONES> 5"), "says 5 zones, first thru node 3 and 4 nodes"),
        (changed(NET, "THRU NODE> 3", "THRU NODE> 6"), "says 2 zones, first thru node 6"),
        (changed(NET, "LINKS> 4", "LINKS> 5"), "4 links, and its metadata say 5"),
        (changed(NET, "capacity\tlength", "length\tcapacity"), "line 8: columns init_node, term_"),
        (changed(NET, "\t3\t4\t100", "\t3\t5\t100"), "line 10: term_node is 5; it must be from 1"),
        (changed(NET, "\t3\t4\t100", "\t0\t4\t100"), "line 10: init_node is 0; it must be from 1"),
        (changed(NET, "\t3\t4\t100", "\t3.5\t4\t100"), "line 10: init_node is 3.5"),
        (changed(NET, "25900.2", "nan"), "line 11: capacity is 'nan'; it must be a finite number"),
        (changed(NET, "25900.2", "1e999"), "line 11: capacity is '1e999'"),
        (changed(NET, "25900.2", "-1"), "line 11: capacity is -1; it must be at least 0"),
        (changed(NET, "25900.2", "many"), "line 11: capacity is 'many'"),
        (changed(NET, "25900.2\t", ""), "line 11: 9 fields; it needs 10"),
        (changed(NET, "25900.2\t", "1\t2\t"), "line 11: 11 fields; it needs 10"),
    ],
)
def test_wrong_networks(tmp_path, text, said):
    path = write(tmp_path / "wrong_net.tntp", text)
    with pytest.raises(InputError, match=re.escape(said)) as raised:
        read_network(path)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (changed(FLOW, "4 \t2 \t0 \t6\n", ""), "has no line for link 4 -> 2 of Small (1 of 4"),
        (changed(FLOW, "4 \t2 \t0", "2 \t4 \t0"), "line 4: link 2 -> 4 is not in Small"),
        (changed(FLOW, "4 \t2 \t0", "1 \t3 \t0"), "line 4: link 1 -> 3 comes again"),
        (changed(FLOW, "4 \t2 \t0", "7 \t2 \t0"), "line 4: init_node is 7; it must be from 1 to 4"),
        (changed(FLOW, "\t0 \t6", "\t-1 \t6"), "line 4: volume is -1"),
        (changed(FLOW, "\t0 \t6", "\t0 \tnan"), "line 4: cost is 'nan'"),
        (
            changed(FLOW, "\t0 \t6", "\t0"),
            "line 4: 3 fields; it needs 4: init_node, term_node, volume, cost",
        ),
        ("From To Volume Cost\n", "has no line for link 1 -> 3 of Small (4 of 4"),
    ],
)
def test_wrong_flows(tmp_path, text, said):
    path = write(tmp_path / "Small_net.tntp", NET)
    flow = write(tmp_path / "wrong_flow.tntp", text)
    with pytest.raises(InputError, match=re.escape(said)) as raised:
        read_network(path, flow)
    assert str(flow) in str(raised.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (changed(NODES, "4\t5\t6\t;\n", ""), "has no line for node 4 of Small (1 of 4"),
        (changed(NODES, "4\t5\t6", "5\t5\t6"), "line 5: the node is 5"),
        (changed(NODES, "4\t5\t6", "3\t5\t6"), "line 5: node 3 comes again"),
        (changed(NODES, "4\t5\t6", "4\t5\tinf"), "line 5: y is 'inf'"),
        (changed(NODES, "4\t5\t6", "4\t5"), "line 5: 2 fields; it needs 3: node, x, y"),
    ],
)
def test_wrong_nodes(tmp_path, text, said):
    path = write(tmp_path / "Small_net.tntp", NET)
    nodes = write(tmp_path / "n.tntp", text)
    with pytest.raises(InputError, match=re.escape(said)) as raised:
        read_network(path, nodes=nodes)
    assert str(nodes) in str(raised.value)


@pytest.mark.parametrize("kind", ["network", "flow", "nodes"])
def test_unreadable_files(tmp_path, kind):
    path = write(tmp_path / "Small_net.tntp", NET)
    read, text = {
        "network": (read_network, NET),
        "flow": (lambda p: read_network(path, flow=p), FLOW),
        "nodes": (lambda p: read_network(path, nodes=p), NODES),
    }[kind]
    check_unreadable(read, tmp_path / "file", text, "https://github.com/bstabler")


POSITIVE = st.floats(0, 1e9)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_what_is_written_is_read(tmp_path, data):
    count = data.draw(st.integers(2, 6))
    node = st.integers(1, count)
    links = data.draw(st.lists(st.tuples(node, node), min_size=1, max_size=8))
    values = data.draw(
        st.lists(st.tuples(*[POSITIVE] * 10), min_size=len(links), max_size=len(links))
    )
    text = (
        f"<NUMBER OF ZONES> 1\n<NUMBER OF NODES> {count}\n<FIRST THRU NODE> 2\n"
        f"<NUMBER OF LINKS> {len(links)}\n<END OF METADATA>\n"
    )
    flow = ""
    for (tail, head), row in zip(links, values, strict=True):
        text += f"{tail} {head} {' '.join(map(repr, row[:8]))} ;\n"
        flow += f"{tail} {head} {row[8]!r} {row[9]!r}\n"
    network = read_network(write(tmp_path / "a_net.tntp", text), write(tmp_path / "flow", flow))
    assert list(zip(network.tail.tolist(), network.head.tolist(), strict=True)) == links
    columns = list(network.attributes.values())
    assert np.array_equal(np.column_stack(columns), np.array(values))
