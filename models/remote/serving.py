"""Replicas behind Ray Serve: `python -m models.remote` starts them, on this machine or in a cluster of Ray that is there.

One application holds all models: Ray Serve keeps a few in each replica and sends a question to one that has its model
(multiplexing), starts more replicas while questions wait, and ends them again (autoscaling).
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import models

NAME = "headlight"
ONGOING = 4  # questions that a replica is sent at a time: it answers them one by one
WAITING = 64  # questions that wait for each replica; to more it is said that there is no room, and the app reads by itself
MISSING = (
    "Ray is not installed. Install it with: pip install 'headlight[ray]' (in a checkout: pip install -r requirements-ray.txt)"
)

SLOW = (
    "Ray did not start in time ({said}). This machine may have too much to do at the moment: wait until less runs on it and "
    "start this again, or ask for fewer replicas with HEADLIGHT_REPLICAS."
)
AWAY = (
    "No cluster of Ray answers at {address}. Start one with: ray start --head. If one runs there, it may ask for its token: give "
    "this command the RAY_AUTH_TOKEN of the cluster, and RAY_AUTH_MODE=token."
)
STOPPED = "Stopped, before models could be read or while the replicas were ending."
FAILED = "Ray could not start the replicas ({said}). What its parts have noted stands in /tmp/ray/session_latest/logs."


@dataclass(frozen=True)
class Settings:
    """fewest, most: replicas; cpus, gpus: of each, a share of one is allowed; kept: models that each keeps in memory."""

    fewest: int = 1
    most: int = 1
    cpus: float = 1.0
    gpus: float = 0.0
    kept: int = 4


def settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings in the environment. Errors: ValueError, a sentence, for an invalid one."""
    given = environment.get("HEADLIGHT_REPLICAS", "1").strip()
    fewest, _, most = given.partition("-")
    if not (fewest.isdecimal() and (most or fewest).isdecimal() and 1 <= int(fewest) <= int(most or fewest)):
        raise ValueError(
            f"HEADLIGHT_REPLICAS is how many replicas there are, such as 2, or 1-8 for as many as are needed; not {given!r}."
        )

    def number(name: str, usual: float, least: float) -> float:
        try:
            found = float(environment.get(name, usual))
        except ValueError:
            found = -1.0
        if not least <= found < 1000:
            raise ValueError(f"{name} is a number from {least:g} on; not {environment[name]!r}.")
        return found

    return Settings(
        int(fewest), int(most or fewest), number("HEADLIGHT_REPLICA_CPUS", 1, 0.1), number("HEADLIGHT_REPLICA_GPUS", 0, 0),
        int(number("HEADLIGHT_REPLICA_MODELS", 4, 1)),
    )  # fmt: skip


def application(asked: Settings) -> Any:
    """The application as `ray.serve.run` takes it."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor
    from weakref import WeakSet

    from ray import serve
    from starlette.requests import Request
    from starlette.responses import Response

    from models.remote.replica import Replica

    many: dict[str, Any] = {"num_replicas": asked.fewest}
    if asked.most > asked.fewest:
        bounds = {"min_replicas": asked.fewest, "max_replicas": asked.most, "target_ongoing_requests": 2, "upscale_delay_s": 5}
        many = {"autoscaling_config": bounds}

    @serve.deployment(
        name="models", **many, max_ongoing_requests=ONGOING, max_queued_requests=WAITING * asked.most,
        graceful_shutdown_timeout_s=5,
        ray_actor_options={"num_cpus": asked.cpus, "num_gpus": asked.gpus, "runtime_env": {"env_vars": _environment()}},
    )  # fmt: skip
    class Models:
        async def __init__(self) -> None:  # type: ignore[misc]  # Ray waits for it
            import torch

            self.here: WeakSet[Replica] = WeakSet()
            self.thread = ThreadPoolExecutor(1)
            self.thread.submit(torch.set_num_threads, max(1, int(asked.cpus))).result()
            self.loading = ThreadPoolExecutor(1)
            for name in models.names()[: asked.kept]:  # small, and asked for by everybody
                await self.model(name)

        @serve.multiplexed(max_num_models_per_replica=asked.kept)
        async def model(self, name: str) -> Replica:
            found = await asyncio.get_running_loop().run_in_executor(self.loading, Replica, name)
            self.here.add(found)
            return found

        async def __call__(self, request: Request) -> Response:
            message = await request.body()
            replica = await self.model(serve.get_multiplexed_model_id() or models.names()[0])
            status, answer = await asyncio.get_running_loop().run_in_executor(self.thread, replica.answer, message)
            return Response(answer, status, media_type="application/octet-stream")

        def check_health(self) -> None:
            for replica in list(self.here):
                replica.tidy()

    deployed: Any = Models
    return deployed.bind()


def _environment() -> dict[str, str]:
    """What replicas are told: where Headlight is, if it is nowhere that Python looks; and which settings of here hold."""
    top = sys.modules[models.__name__.partition(".")[0]].__file__
    root = str(Path(str(top)).parents[1])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    ours = {
        name: os.environ[name] for name in ("HEADLIGHT_HUB", "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE") if name in os.environ
    }
    return {"PYTHONPATH": os.pathsep.join(paths)} | ours


def serve_models(address: str, host: str, port: int, asked: Settings) -> None:
    """Start the replicas and come back when they answer. address: "local" for a Ray of its own on this machine, "auto" for the
    one that runs here, or that of another one's head. host, port: where questions are heard.

    Nothing is sent to who makes Ray, and no dashboard is started. Errors: ImportError without Ray; ConnectionError without a
    cluster there.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray
    from ray import serve

    if address == "local":
        ray.init(  # "local": without it Ray looks for one that runs here, or ran
            address="local", include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1",
            object_store_memory=100 * 2**20, num_cpus=max(os.cpu_count() or 1, round(asked.most * asked.cpus)),
        )  # fmt: skip
    else:
        ray.init(address=address, log_to_driver=False)
    serve.start(proxy_location="HeadOnly" if heard_here(host) else "EveryNode", http_options={"host": host, "port": port})
    serve.run(
        application(asked), name=NAME, route_prefix="/",
        logging_config={"enable_access_log": False, "log_level": "WARNING"},
    )  # fmt: skip


def heard_here(host: str) -> bool:
    """Whether questions come from this machine alone, so that no other node of a cluster needs to hear them."""
    return host == "localhost" or host.startswith("127.") or host == "::1"


def main(argv: Sequence[str] | None = None) -> int:
    """The command; what it gives is the exit code."""
    parser = argparse.ArgumentParser("python -m models.remote", description="Have models read by replicas behind Ray Serve.")
    parser.add_argument(
        "--address", default="local", help="local: a Ray of its own; auto: the one that runs here; or a head's host:port"
    )
    parser.add_argument("--host", default="127.0.0.1", help="where questions are heard; keep it inside a private network")
    parser.add_argument("--port", type=int, choices=range(1, 65536), metavar="PORT", default=8000)
    parser.add_argument("--with-parent", action="store_true", help="end when the process that started this one has ended")
    given = parser.parse_args(argv)
    try:
        serve_models(given.address, given.host, given.port, settings())
        print(f"Models are read at ray://{given.host}:{given.port}", flush=True)
        if given.address == "local":
            _wait(os.getppid() if given.with_parent else None)
    except KeyboardInterrupt:  # while Ray starts, which takes a while, or ends
        print(STOPPED, file=sys.stderr)
        return 130
    except ImportError:
        print(MISSING, file=sys.stderr)
        return 1
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    except ConnectionError:
        print(AWAY.format(address=given.address), file=sys.stderr)
        return 1
    except Exception as error:  # Ray raises nothing narrower where its own node is too slow
        print(told(error), file=sys.stderr)
        return 1
    return 0


def told(error: Exception) -> str:
    """What went wrong while Ray started, and what to do. Ray Serve raises TimeoutError (also `GetTimeoutError`) where it is
    too slow, and a node an error of any kind that says so."""
    said = next((line.strip().rstrip(".:") for line in str(error).splitlines() if line.strip()), type(error).__name__)
    slow = isinstance(error, TimeoutError) or "timed out" in str(error).lower()
    return (SLOW if slow else FAILED).format(said=said)


def _wait(parent: int | None) -> None:
    """Until somebody ends this process, or its parent has gone."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    while not ended.wait(1.0) and parent in (None, os.getppid()):
        pass
    import ray

    ray.shutdown()
