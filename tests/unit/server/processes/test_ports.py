"""A port that is taken is told of before anything is begun."""

import socket

import pytest

from server.processes.ports import require_free
from server.use_cases.services.errors import CommandRefusedError


def test_a_port_that_another_program_has_is_refused_until_it_is_free():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen(1)
        port = other.getsockname()[1]
        with pytest.raises(CommandRefusedError, match="another program listens there"):
            require_free("127.0.0.1", port)
    require_free("127.0.0.1", port)
    require_free("127.0.0.1", port)  # it holds nothing


@pytest.mark.parametrize("host", ["198.51.100.7", "no such host"])
def test_an_address_that_is_not_this_machines_is_refused(host):
    with pytest.raises(CommandRefusedError, match=f"cannot listen on {host}, port 80"):
        require_free(host, 8081)
