"""Replies in tests: each that a server sends is held to the OpenAPI document.

The document lets members be added later; here there must be none that it does not
describe. Replies are collected when they arrive and looked at when the test ends, so
that tests which measure time measure none of it.
"""

import functools
import json
import re
import threading

import httpx
import jsonschema

_MOST = 100  # replies of one route and status that are looked at in one test
_LONG = 50  # elements of a list from which on its middle is passed over

_waiting: dict = {}
_lock = threading.Lock()


def collect(patch):
    """From now on, collect what servers send to any client of this process."""
    send, send_async = httpx.Client.send, httpx.AsyncClient.send

    @functools.wraps(send)
    def sent(client, request, **more):
        return _noted(send(client, request, **more))

    @functools.wraps(send_async)
    async def sent_async(client, request, **more):
        return _noted(await send_async(client, request, **more))

    patch.setattr(httpx.Client, "send", sent)
    patch.setattr(httpx.AsyncClient, "send", sent_async)


def _noted(response):
    came_over_a_network = "network_stream" in response.extensions
    kind = response.headers.get("content-type", "")
    if response.is_success and came_over_a_network and kind == "application/json":
        path = response.request.url.path
        key = (response.request.method, path, response.status_code)
        with _lock:
            kept = _waiting.setdefault(key, [])
            if len(kept) < _MOST and response.is_closed:
                kept.append(response.content)
    return response


def check_collected():
    """Hold all that was collected to the document.

    Returns:
        What was seen of each route and status.

    Raises:
        AssertionError: A reply is not as the document describes it.
    """
    with _lock:
        found = dict(_waiting)
        _waiting.clear()
    seen: dict = {}
    for (method, path, status), bodies in found.items():
        operation = operation_of(method, path)
        if operation is None:
            continue  # of another server, such as an issuer of tokens
        values = [json.loads(body) for body in bodies]
        for value in values:
            check_reply(operation, status, value)
        seen.setdefault((operation, status), []).extend(values)
    return seen


def example_of(operation, status):
    """Return the example of a reply in the document."""
    verb, path = operation.split()
    reply = document()["paths"][path][verb.lower()]["responses"][str(status)]
    return reply["content"]["application/json"]["example"]


def members(value, place="$"):
    """Return the places of all members of a value, of all elements of a list alike."""
    inside = []
    if isinstance(value, list):
        inside = [(f"{place}[]", each) for each in value]
    elif isinstance(value, dict):
        inside = [(f"{place}.{name}", each) for name, each in value.items()]
    return {place}.union(*(members(each, where) for where, each in inside))


def check_reply(operation, status, value):
    """Hold one reply to the document, without members that it does not describe."""
    validator = validators().get((operation, status))
    assert validator is not None, f"{operation} has no JSON reply {status}"
    error = jsonschema.exceptions.best_match(validator.iter_errors(_shortened(value)))
    if error is not None:
        message = f"{operation} {status}, {error.json_path}: {error.message}"
        raise AssertionError(message)


def operation_of(method, path):
    """Return the route that a path is of, as in the table of roles; None if none is."""
    for name, pattern in _patterns():
        if name.startswith(f"{method} ") and pattern.fullmatch(path):
            return name
    return None


@functools.cache
def document():
    """Return the OpenAPI document as readers of JSON see it."""
    from server.api.app import openapi_document  # noqa: PLC0415 - takes seconds

    return json.loads(json.dumps(openapi_document()))


@functools.cache
def validators():
    """Return a validator for each route and success status that has a JSON schema."""
    components = {"components": _closed(document()["components"])}
    return {
        (f"{verb.upper()} {path}", int(status)): jsonschema.Draft202012Validator(
            {**content["schema"], **components}
        )
        for path, verbs in document()["paths"].items()
        for verb, operation in verbs.items()
        for status, response in operation["responses"].items()
        for kind, content in response.get("content", {}).items()
        if status.startswith("2") and kind == "application/json"
        if content["schema"] != {"type": "object"}  # a file of a release
    }


@functools.cache
def _patterns():
    names = sorted({name for name, _ in validators()}, key=lambda name: name.count("{"))
    return [
        (name, re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(name.split()[1]))))
        for name in names
    ]


def _closed(schema):
    """Return a schema whose objects have no members but those that it describes."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: _closed(each) for name, each in schema.items()}
    if isinstance(schema.get("properties"), dict):
        closed["additionalProperties"] = False
    return closed


def _shortened(value):
    if isinstance(value, dict):
        return {name: _shortened(each) for name, each in value.items()}
    if not isinstance(value, list):
        return value
    half = _LONG // 2
    kept = value if len(value) <= _LONG else value[:half] + value[-half:]
    return [_shortened(each) for each in kept]
