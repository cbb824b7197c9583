"""What jobs can do: each family's kinds, by name."""

from collections.abc import Callable

from server.use_cases.anonymization.work.codes.jobs import CodesCopyJob
from server.use_cases.anonymization.work.tables.jobs import TableCopyJob
from server.use_cases.anonymization.work.texts.jobs import TextCopyJob
from server.use_cases.extraction.evaluating import EvaluateJob
from server.use_cases.extraction.pipelines.pipelines import PipelineJob
from server.use_cases.extraction.reading import ReadJob
from server.use_cases.extraction.tagging import TagJob
from server.use_cases.extraction.term_lists import TermsJob
from server.use_cases.extraction.training import TrainJob
from server.use_cases.jobs.kinds import JobKind, JobKinds
from server.use_cases.linkage.work.jobs import ApplyJob, ExportJob, LinkJob
from server.use_cases.loading.job import LoadJob
from server.use_cases.publishing.job import ReleaseJob
from server.use_cases.services.services import Services


def kinds_of(services: Services, clean: Callable[[], None]) -> JobKinds:
    """Return all kinds of jobs.

    Args:
        services: Of the installation.
        clean: Removes what a killed load left behind.
    """
    load = LoadJob(services, clean)
    release = ReleaseJob(services)
    texts: list[JobKind] = [
        ReadJob(services),
        TrainJob(services),
        TermsJob(services),
        TagJob(services),
        EvaluateJob(services),
        PipelineJob(services),
        LinkJob(services),
        ApplyJob(services),
        ExportJob(services),
        TextCopyJob(services),
        TableCopyJob(services),
        CodesCopyJob(services),
    ]
    return {load.name: load, release.name: release, **{one.name: one for one in texts}}
