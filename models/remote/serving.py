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
    "Ray did not start in time ({reason}). This machine may have too much to do at the moment: wait until less runs on it and "
    "start this again, or ask for fewer replicas with HEADLIGHT_REPLICAS."
)
AWAY = (
    "No cluster of Ray answers at {address}. Start one with: ray start --head. If one runs there, it may ask for its token: give "
    "this command the RAY_AUTH_TOKEN of the cluster, and RAY_AUTH_MODE=token."
)
STOPPED = "Stopped, before models could be read or while the replicas were ending."
FAILED = "Ray could not start the replicas ({reason}). Its logs are in /tmp/ray/session_latest/logs."


@dataclass(frozen=True)
class Settings:
    """fewest, most: the number of replicas; cpus, gpus: of each, also parts of one; capacity: models in the memory of each."""

    fewest: int = 1
    most: int = 1
    cpus: float = 1.0
    gpus: float = 0.0
    capacity: int = 4


def settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings from the environment. Errors: ValueError, a sentence, for an invalid setting."""
    replicas = environment.get("HEADLIGHT_REPLICAS", "1").strip()
    fewest, _, most = replicas.partition("-")
    if not (fewest.isdecimal() and (most or fewest).isdecimal() and 1 <= int(fewest) <= int(most or fewest)):
        raise ValueError(
            f"HEADLIGHT_REPLICAS is how many replicas there are, such as 2, or 1-8 for as many as are needed; not {replicas!r}."
        )

    def number(name: str, usual: float, least: float) -> float:
        try:
            amount = float(environment.get(name, usual))
        except ValueError:
            amount = -1.0
        if not least <= amount < 1000:
            raise ValueError(f"{name} is a number from {least:g} on; not {environment[name]!r}.")
        return amount

    return Settings(
        int(fewest),
        int(most or fewest),
        number("HEADLIGHT_REPLICA_CPUS", 1, 0.1),
        number("HEADLIGHT_REPLICA_GPUS", 0, 0),
        int(number("HEADLIGHT_REPLICA_MODELS", 4, 1)),
    )


def application(options: Settings) -> Any:
    """Return the application as `ray.serve.run` takes it."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor
    from weakref import WeakSet

    from ray import serve
    from starlette.requests import Request
    from starlette.responses import Response

    from models.remote.replica import Replica

    many: dict[str, Any] = {"num_replicas": options.fewest}
    if options.most > options.fewest:
        bounds = {
            "min_replicas": options.fewest,
            "max_replicas": options.most,
            "target_ongoing_requests": 2,
            "upscale_delay_s": 5,
        }
        many = {"autoscaling_config": bounds}

    @serve.deployment(
        name="models",
        **many,
        max_ongoing_requests=ONGOING,
        max_queued_requests=WAITING * options.most,
        graceful_shutdown_timeout_s=5,
        ray_actor_options={"num_cpus": options.cpus, "num_gpus": options.gpus, "runtime_env": {"env_vars": _environment()}},
    )
    class Models:
        async def __init__(self) -> None:  # type: ignore[misc]  # Ray waits for it
            import torch

            self.here: WeakSet[Replica] = WeakSet()
            self.thread = ThreadPoolExecutor(1)
            self.thread.submit(torch.set_num_threads, max(1, int(options.cpus))).result()
            self.loading = ThreadPoolExecutor(1)
            for name in models.names()[: options.capacity]:  # small, and asked for by everybody
                await self.model(name)

        @serve.multiplexed(max_num_models_per_replica=options.capacity)
        async def model(self, name: str) -> Replica:
            replica = await asyncio.get_running_loop().run_in_executor(self.loading, Replica, name)
            self.here.add(replica)
            return replica

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
    """Return the environment of replicas: a Python path that finds Headlight, and the settings of this process."""
    top = sys.modules[models.__name__.partition(".")[0]].__file__
    root = str(Path(str(top)).parents[1])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    ours = {
        name: os.environ[name] for name in ("HEADLIGHT_HUB", "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE") if name in os.environ
    }
    return {"PYTHONPATH": os.pathsep.join(paths)} | ours


def serve_models(address: str, host: str, port: int, options: Settings) -> None:
    """Start the replicas and return when they answer.

    address: "local" to start Ray on this machine, "auto" for the Ray that runs here, or the address of another cluster's head.
    host, port: where questions arrive. Nothing is sent to the makers of Ray, and no dashboard is started.
    Errors: ImportError without Ray; ConnectionError without a cluster there.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray
    from ray import serve

    if address == "local":
        ray.init(  # "local": without it Ray looks for one that runs here, or ran
            address="local",
            include_dashboard=False,
            log_to_driver=False,
            _node_ip_address="127.0.0.1",
            object_store_memory=100 * 2**20,
            num_cpus=max(os.cpu_count() or 1, round(options.most * options.cpus)),
        )
    else:
        ray.init(address=address, log_to_driver=False)
    serve.start(proxy_location="HeadOnly" if heard_here(host) else "EveryNode", http_options={"host": host, "port": port})
    serve.run(
        application(options),
        name=NAME,
        route_prefix="/",
        logging_config={"enable_access_log": False, "log_level": "WARNING"},
    )


def heard_here(host: str) -> bool:
    """Return whether questions come from this machine alone, so that no other node of a cluster needs to listen."""
    return host == "localhost" or host.startswith("127.") or host == "::1"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser("python -m models.remote", description="Have models read by replicas behind Ray Serve.")
    parser.add_argument(
        "--address", default="local", help="local: a Ray of its own; auto: the one that runs here; or a head's host:port"
    )
    parser.add_argument("--host", default="127.0.0.1", help="where questions are heard; keep it inside a private network")
    parser.add_argument("--port", type=int, choices=range(1, 65536), metavar="PORT", default=8000)
    parser.add_argument("--with-parent", action="store_true", help="end when the process that started this one has ended")
    arguments = parser.parse_args(argv)
    try:
        serve_models(arguments.address, arguments.host, arguments.port, settings())
        print(f"Models are read at ray://{arguments.host}:{arguments.port}", flush=True)
        if arguments.address == "local":
            _wait(os.getppid() if arguments.with_parent else None)
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
        print(AWAY.format(address=arguments.address), file=sys.stderr)
        return 1
    except Exception as error:  # Ray raises nothing narrower where its own node is too slow
        print(explain(error), file=sys.stderr)
        return 1
    return 0


def explain(error: Exception) -> str:
    """Return a sentence on why Ray did not start, and what to do.

    Ray Serve raises TimeoutError (also `GetTimeoutError`) where it is too slow; a node raises errors of other types that say so.
    """
    reason = next((line.strip().rstrip(".:") for line in str(error).splitlines() if line.strip()), type(error).__name__)
    slow = isinstance(error, TimeoutError) or "timed out" in str(error).lower()
    return (SLOW if slow else FAILED).format(reason=reason)


def _wait(parent: int | None) -> None:
    """Wait until this process is ended, or its parent has gone."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    while not ended.wait(1.0) and parent in (None, os.getppid()):
        pass
    import ray

    ray.shutdown()
