"""Accepts only the messages of Streamlit's protocol that our pages need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from streamlit.proto.BackMsg_pb2 import BackMsg

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MESSAGES = {"rerun_script", "stop_script", "app_heartbeat", "file_urls_request", "backend_operation_request"}
OPERATIONS = {"deferred_file", "dataframe_chunk"}  # the others write files for programmers' tools beside the app


class MessageFilter:
    """ASGI middleware that ignores messages for developers (to stop the server, to forget a visit's state, to install something).
    An invalid message ends its line; Streamlit would end it too, with a traceback in the log for each."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def receive_next() -> Message:
            while (message := await receive())["type"] == "websocket.receive":
                try:
                    request = BackMsg.FromString(message.get("bytes") or b"")
                except DecodeError:
                    request = BackMsg()
                if not request.WhichOneof("type"):
                    return {"type": "websocket.disconnect", "code": 1002}
                if is_allowed(request):
                    break
            return message

        stream = scope["type"] == "websocket" and scope["path"].endswith("/_stcore/stream")
        await self.app(scope, receive_next if stream else receive, send)


def is_allowed(request: BackMsg) -> bool:
    kind = request.WhichOneof("type")
    return kind in MESSAGES and (
        kind != "backend_operation_request" or request.backend_operation_request.WhichOneof("payload") in OPERATIONS
    )
