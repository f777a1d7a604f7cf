"""Downloads from the Hugging Face Hub into the local cache (huggingface_hub's, with its usual environment variables).

The kind and size of a model are checked before its weights are fetched. Of a repository, only the config, the tokenizer and the
safetensors files are downloaded.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from models.errors import Cancelled, ModelError, is_full
from models.files.progress import Progress, Report
from models.huggingface.confined import confined
from models.huggingface.folder import (
    BESIDE,
    CONFIG,
    INDEX,
    NoTokenizer,
    check_config_is_there,
    check_reader_is_there,
    check_reads,
    check_tokenizer_is_there,
    inspect_folder,
    is_vocabulary,
    read_config,
    reads_images,
    weights_files,
)
from models.huggingface.memory import check_disk, place
from models.huggingface.names import HubName, quoted

if TYPE_CHECKING:
    from huggingface_hub.errors import HfHubHTTPError

T = TypeVar("T")
TICK = 0.2  # seconds between two reports of a download
TIMEOUT = 10  # seconds for the Hub's first word
NOT_TEXT = ("vision", "audio", "image", "mel_bins", "patch_size")  # in the names of a config's settings


def downloads(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether anything may be fetched from the Hub: HEADLIGHT_HUB=0 forbids it, and then the Hub is not even asked."""
    return environment.get("HEADLIGHT_HUB", "1").strip().lower() not in ("0", "no", "off", "false")


def fetch(
    name: HubName,
    device: str | None,
    report: Report,
    weights: bool = True,
    dtype: str | None = None,
    reads: str | None = None,
) -> tuple[Path, str]:
    """Return a folder that holds the model, and its source: "Hugging Face Hub, revision abc1234".

    weights: False for config and tokenizer alone. dtype: the precision that was asked for, if any. reads: what it must read, as
    for `models.load`.
    Without network, a model that is complete in the cache is taken from there; where downloads are switched off, nothing else is
    tried. Errors: ModelError; Cancelled, when `report` raises it (what has been downloaded until then is kept, and used the next
    time).
    """
    from huggingface_hub import HfApi, ModelInfo, constants
    from huggingface_hub.errors import HfHubHTTPError

    report(Progress("prepare"))
    if not downloads():
        return from_cache(name, "Downloads are switched off here (HEADLIGHT_HUB=0)")
    if constants.HF_HUB_OFFLINE:
        return from_cache(name, "HF_HUB_OFFLINE is set")
    # The Hub learns nothing of who asks. Its client would also fetch a list of agents to recognise.
    constants.HF_HUB_DISABLE_TELEMETRY = True

    def ask() -> ModelInfo:
        return HfApi().model_info(name.repository, revision=name.revision, files_metadata=True, timeout=TIMEOUT)

    try:
        info = in_background(ask, lambda: report(Progress("prepare")))
    except Cancelled:
        raise
    except Exception as error:
        if isinstance(error, HfHubHTTPError) and error.response.status_code < 500:
            raise refusal(error, name) from error
        return from_cache(name, "The Hugging Face Hub cannot be reached", error)
    files = {file.rfilename: file.size or 0 for file in info.siblings or () if "/" not in file.rfilename}
    commit = info.sha
    assert commit is not None, "the Hub names the commit of each answer"
    if weights:
        folder = download(name, commit, files, device, report, dtype, reads)
    else:
        folder = download_tokenizer(name, commit, files, report)
    reference = storage(name) / "refs" / (name.revision or "main")
    if name.revision != commit and weights:
        # Only now that all is there, so that the last complete one is found when there is no network.
        reference.parent.mkdir(parents=True, exist_ok=True)
        reference.write_text(commit)
    return folder, source(commit)


def source(commit: str) -> str:
    return f"Hugging Face Hub, revision {commit[:7]}"


def storage(name: HubName) -> Path:
    """Return the folder where the cache keeps a repository (https://huggingface.co/docs/huggingface_hub/guides/manage-cache)."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE) / f"models--{name.repository.replace('/', '--')}"


def download(
    name: HubName,
    commit: str,
    files: dict[str, int],
    device: str | None,
    report: Report,
    dtype: str | None = None,
    reads: str | None = None,
) -> Path:
    """Fetch what is needed of `files` (sizes in bytes by name), once it is clear that it can be opened."""
    repository = name.repository
    check_config_is_there(files, repository)
    folder = storage(name) / "snapshots" / commit

    def get(names: Iterable[str], total: int = 0, before: int = 0) -> None:
        get_files(name, commit, names, total, before, report)

    get([file for file in (CONFIG, INDEX) if file in files])
    config = read_config(folder / CONFIG, repository)
    check_reads("image" if reads_images(config) else "text", reads, repository)
    weights = weights_files(files, folder / INDEX, repository)
    if absent := [file for file in weights if file not in files]:
        raise ModelError(f"{quoted(repository)} is not complete: its weights file {quoted(absent[0])} is missing.")
    try:
        check_reader_is_there(files, config, repository)
    except NoTokenizer:
        confined("try_kind", folder / CONFIG, repository, report)
        raise
    check_it_fits(folder / CONFIG, repository, device, report, dtype)
    needed = [*(file for file in files if is_vocabulary(file) or file in BESIDE), *weights]
    ahead = [file for file in needed if not (folder / file).exists()]
    if ahead:
        total = sum(files[file] for file in needed)
        missing = sum(files[file] for file in ahead)
        check_disk(repository, missing, folder)
        get(ahead, total, total - missing)
    return folder


def download_tokenizer(name: HubName, commit: str, files: dict[str, int], report: Report) -> Path:
    """Fetch the config and the tokenizer of `files` (sizes in bytes by name)."""
    check_config_is_there(files, name.repository)
    check_tokenizer_is_there(files, name.repository)
    needed = [file for file in files if file == CONFIG or is_vocabulary(file) or file in BESIDE]
    total = sum(files[file] for file in needed)
    folder = storage(name) / "snapshots" / commit
    check_disk(name.repository, total, folder)
    get_files(name, commit, [file for file in needed if not (folder / file).exists()], total, 0, report)
    return folder


def check_it_fits(config_file: Path, name: str, device: str | None, report: Report, dtype: str | None = None) -> None:
    raw = read_config(config_file, name)
    elements = confined("try_config", config_file, name, report)
    place(name, elements, str(raw.get("dtype") or raw.get("torch_dtype") or "float32"), device, required=dtype)


def get_files(name: HubName, commit: str, files: Iterable[str], total: int, before: int, report: Report) -> None:
    """Download files into the cache in the background. total, before: bytes of all files, and those that are there already."""
    from huggingface_hub import constants, hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError

    # Plain HTTP: every byte is counted, can be the last one, and is not fetched again the next time.
    constants.HF_HUB_DISABLE_XET = True
    bar = Bar(before)

    def work() -> None:
        for file in files:
            bar.update(0)
            hf_hub_download(name.repository, file, revision=commit, tqdm_class=bar)  # type: ignore[call-overload]  # anything that makes a bar will do

    def tell() -> None:
        report(Progress("download", min(bar.done, total), total) if total else Progress("prepare"))

    try:
        in_background(work, tell)
        tell()
    except HfHubHTTPError as error:
        raise refusal(error, name) from error
    except Cancelled:
        raise
    except Exception as error:
        if is_full(error):
            raise ModelError(f"The disk with the cache is full; {quoted(name.repository)} could not be downloaded.") from error
        raise ModelError(
            f"The download of {quoted(name.repository)} broke off. What has arrived is kept; try again when the network is there."
        ) from error
    finally:
        bar.stopped = True


class Bar:
    """A counter in the place of huggingface_hub's progress bar class: it counts bytes, and can stop the download."""

    def __init__(self, done: int):
        self.done = done
        self.stopped = False

    def __call__(self, *args: object, initial: int = 0, **options: object) -> Bar:
        self.update(initial)  # a download that goes on where an earlier one stopped
        return self

    def update(self, bytes: float = 1) -> None:
        if self.stopped:
            raise Cancelled
        self.done += int(bytes)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def close(self) -> None:
        pass

    def refresh(self) -> None:
        pass


def in_background(task: Callable[[], T], tell: Callable[[], None]) -> T:
    """Return or raise what the task does in a thread. `tell` is called meanwhile; when it raises, the task is left to itself."""
    ended: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            ended.append(task())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True, name="headlight-hub")
    thread.start()
    while thread.is_alive():
        tell()
        thread.join(TICK)
    if failed:
        raise failed[0]
    return ended[0]


def from_cache(name: HubName, why: str, cause: Exception | None = None) -> tuple[Path, str]:
    """Return the cached snapshot of a revision, if it is complete. Errors: ModelError, which says how to bring the model here."""
    if commit := cached_commit(name):
        folder = storage(name) / "snapshots" / commit
        try:
            inspect_folder(folder, name.repository)
            return folder, source(commit)
        except ModelError as error:
            cause = cause or error
    revision = f" --revision {name.revision}" if name.revision else ""
    raise ModelError(
        f"{why}, and {quoted(name.repository)} is not, or not wholly, in this machine’s cache. Where there is network, run "
        f"“hf download {name.repository}{revision} --local-dir folder”, bring the folder here, and type its path."
    ) from cause


def cached_commit(name: HubName) -> str | None:
    revision = name.revision or "main"
    try:
        return (storage(name) / "refs" / revision).read_text().strip()
    except OSError:
        whole = [folder.name for folder in (storage(name) / "snapshots").glob("*") if folder.name.startswith(revision)]
        return whole[0] if len(whole) == 1 and len(revision) >= 7 else None


def cached_models() -> tuple[str, ...]:
    """Return the names on the Hub of the models in the cache that open without network, in alphabetical order.

    Each is complete and, as far as its config shows, reads text. Neither torch nor transformers is imported.
    """
    from huggingface_hub import constants

    names = []
    try:
        folders = sorted(Path(constants.HF_HUB_CACHE).glob("models--*"))
    except OSError:
        folders = []
    for folder in folders:
        try:
            name = HubName.parse(folder.name.removeprefix("models--").replace("--", "/"))
            commit = cached_commit(name)
            config = inspect_folder(folder / "snapshots" / commit, name.repository).config if commit else {}
        except ModelError:
            continue
        settings = " ".join(config)
        if (
            isinstance(config.get("model_type"), str)
            and "quantization_config" not in config
            and not any(s in settings for s in NOT_TEXT)
        ):
            names.append(name.repository)
    return tuple(names)


def refusal(error: HfHubHTTPError, name: HubName) -> ModelError:
    """Return the Hub's refusal as a sentence for the person who typed the name."""
    from huggingface_hub.errors import DisabledRepoError, GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError

    title = quoted(name.repository)
    status = error.response.status_code
    if isinstance(error, GatedRepoError):
        return ModelError(
            f"{title} is gated: its owner asks you to accept terms. Do so on its page at huggingface.co, and set HF_TOKEN to "
            "your access token before you start Headlight."
        )
    if isinstance(error, RevisionNotFoundError):
        return ModelError(f"{title} has no revision {quoted(name.revision or 'main')}. Check what comes after the @.")
    if isinstance(error, DisabledRepoError):
        return ModelError(f"{title} has been disabled on the Hugging Face Hub.")
    # The Hub answers 401 for a missing model too, so as not to reveal which private ones exist.
    bad_token = "credentials" in (error.response.headers.get("X-Error-Message") or "")
    if isinstance(error, RepositoryNotFoundError) or status == 404 or (status == 401 and not bad_token):
        return ModelError(
            f"The Hugging Face Hub has no model {title} that you may see. Check the spelling; if it is private, set HF_TOKEN to "
            "your access token before you start Headlight."
        )
    if status == 401:
        return ModelError("The Hugging Face Hub does not accept your access token. Check HF_TOKEN, or unset it.")
    if status == 403:
        return ModelError(f"Your access token does not let you read {title}. Give it that permission on huggingface.co.")
    if status == 429:
        return ModelError("The Hugging Face Hub has had too many requests from here. Wait some minutes and try again.")
    return ModelError(f"The Hugging Face Hub answered with error {status} for {title}.")
