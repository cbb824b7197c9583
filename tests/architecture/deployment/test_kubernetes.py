"""The Kubernetes example keeps what makes a deployment safe."""

import os
import subprocess
from pathlib import Path

import pytest
import yaml

from scripts.image.dockerfile import read_stages
from server.configuration.settings import Settings
from tests.architecture.deployment.test_deployment import DRAIN_SECONDS

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "docs/operations"
FILES = ("kubernetes.yaml", "kubernetes-postgresql.yaml")
DOCUMENTS = {
    name: list(yaml.safe_load_all((FOLDER / name).read_text("utf-8"))) for name in FILES
}
IMAGE = read_stages(ROOT / "Dockerfile")[-1]
OF_LIBPQ = {"PGPASSFILE"}


def all_of(kind, name=FILES[0]):
    return [one for one in DOCUMENTS[name] if one["kind"] == kind]


def the(kind, name=FILES[0]):
    (found,) = all_of(kind, name)
    return found


POD = the("StatefulSet")["spec"]["template"]["spec"]
(CURATOR,) = POD["containers"]
(PRIVATE,) = POD["initContainers"]


def mounts(container):
    return {one["mountPath"]: one["name"] for one in container["volumeMounts"]}


def settings_of(name):
    return the("ConfigMap", name)["data"]


def test_each_object_is_whole_and_of_one_namespace():
    for documents in DOCUMENTS.values():
        for one in documents:
            assert {"apiVersion", "kind", "metadata"} <= one.keys()
            if one["kind"] != "Namespace":
                assert one["metadata"]["namespace"] == "curator"
    assert sorted({one["kind"] for one in DOCUMENTS[FILES[0]]}) == [
        "ConfigMap", "Namespace", "NetworkPolicy", "PersistentVolumeClaim", "Service",
        "ServiceAccount", "StatefulSet",
    ]  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_every_setting_is_one_of_the_servers_and_is_read(name, monkeypatch):
    known = {
        (field.alias or f"curator_{at}").upper()
        for at, field in Settings.model_fields.items()
    }
    given = settings_of(name)
    assert given.keys() - OF_LIBPQ <= known
    assert all(isinstance(value, str) for value in given.values())
    for variable in [one for one in os.environ if one.startswith("CURATOR_")]:
        monkeypatch.delenv(variable)
    for variable, value in given.items():
        monkeypatch.setenv(variable, value)
    read = Settings()
    assert read.is_shared == (name == FILES[1])
    assert (read.workers > 1) == read.is_shared


def test_what_postgresql_changes_leaves_the_other_settings():
    plain, shared = (settings_of(name) for name in FILES)
    assert plain.items() <= shared.items()


def test_the_anchor_is_another_volume_of_another_class_than_the_data():
    given = settings_of(FILES[0])
    volumes = mounts(CURATOR)
    assert volumes["/data"] != volumes["/anchor"]
    assert given["CURATOR_DATA"].startswith("/data/")
    assert given["CURATOR_ANCHOR"].startswith("/anchor/")
    claims = {
        one["metadata"]["name"]: one["spec"] for one in all_of("PersistentVolumeClaim")
    }
    assert claims.keys() == {"data", "anchor"}
    classes = {one["storageClassName"] for one in claims.values()}
    assert len(classes) == 2
    modes = [one["accessModes"] for one in claims.values()]
    assert modes == [["ReadWriteOncePod"]] * 2


def test_every_volume_of_the_image_is_given_and_every_mount_declared():
    assert set(IMAGE.last("VOLUME").exec_form()) <= mounts(CURATOR).keys()
    declared = {one["name"] for one in POD["volumes"]}
    for container in (CURATOR, PRIVATE):
        assert set(mounts(container).values()) <= declared


def test_there_is_one_pod_and_nothing_makes_it_two():
    assert the("StatefulSet")["spec"]["replicas"] == 1
    kinds = {one["kind"] for documents in DOCUMENTS.values() for one in documents}
    assert not kinds & {"Deployment", "HorizontalPodAutoscaler", "DaemonSet"}


def test_the_pod_runs_as_the_images_user_without_rights():
    user, group = map(int, IMAGE.last("USER").rest.split(":"))
    pod = POD["securityContext"]
    assert (pod["runAsUser"], pod["runAsGroup"], pod["fsGroup"]) == (user, group, group)
    assert pod["runAsNonRoot"] is True
    assert pod["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["fsGroupChangePolicy"] == "OnRootMismatch"
    assert POD["automountServiceAccountToken"] is False
    assert POD["enableServiceLinks"] is False, "CURATOR_PORT would be an address"
    for container in (CURATOR, PRIVATE):
        held = container["securityContext"]
        assert held["readOnlyRootFilesystem"] is True
        assert held["allowPrivilegeEscalation"] is False
        assert held["capabilities"] == {"drop": ["ALL"]}
        assert "privileged" not in held
        assert container["resources"]["limits"] == container["resources"]["requests"]


def test_processors_are_whole_so_that_no_quota_stops_the_server():
    assert CURATOR["resources"]["limits"]["cpu"].isdigit()


def test_the_probes_ask_what_the_server_answers():
    paths = {
        probe: CURATOR[probe]["httpGet"]["path"]
        for probe in ("startupProbe", "livenessProbe", "readinessProbe")
    }
    assert paths == {
        "startupProbe": "/healthz",
        "livenessProbe": "/healthz",
        "readinessProbe": "/readyz",
    }
    for probe in paths:
        assert CURATOR[probe]["httpGet"]["scheme"] == "HTTPS"
        assert CURATOR[probe]["httpGet"]["port"] == CURATOR["ports"][0]["name"]
    assert (
        str(CURATOR["ports"][0]["containerPort"])
        == settings_of(FILES[0])["CURATOR_PORT"]
    )
    assert POD["terminationGracePeriodSeconds"] > DRAIN_SECONDS


def test_no_secret_stands_in_the_files_and_each_is_read_from_memory():
    assert all_of("Secret") == []
    (memory,) = [one for one in POD["volumes"] if one["name"] == "secrets"]
    assert memory["emptyDir"]["medium"] == "Memory"
    for name in FILES:
        for variable, value in settings_of(name).items():
            if "TLS" in variable or "PGPASS" in variable:
                assert value.startswith("/secrets/"), variable
    assert (
        ":"
        not in settings_of(FILES[1])["CURATOR_DATABASE_URL"]
        .split("//")[1]
        .split("@")[0]
    )


@pytest.mark.parametrize("name", FILES)
def test_nobody_but_the_ingress_reaches_the_server_and_it_reaches_the_database_alone(
    name,
):
    policy = the("NetworkPolicy", name)["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert policy["podSelector"] == {}
    (rule,) = policy["ingress"]
    assert [port["port"] for port in rule["ports"]] == [8000]
    assert all("namespaceSelector" in one for one in rule["from"])
    ports = [[port["port"] for port in rule["ports"]] for rule in policy["egress"]]
    assert ports == ([] if name == FILES[0] else [[5432], [53, 53]])
    assert all("to" in rule for rule in policy["egress"])


def test_the_first_container_leaves_folders_and_secrets_to_their_owner_alone(tmp_path):
    """Run for real, with the volumes as Kubernetes gives them: open to a group."""
    script = PRIVATE["args"][0]
    for name, mode in (("data", 0o2775), ("anchor", 0o2775), ("given", 0o750)):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(mode)
    (tmp_path / "secrets").mkdir()
    (tmp_path / "given/tls.key").write_text("secret")
    (tmp_path / "given/tls.key").chmod(0o440)
    (tmp_path / "data/curator").mkdir()
    (tmp_path / "data/curator/secret.key").write_text("secret")
    (tmp_path / "data/curator/secret.key").chmod(0o660)
    for place in mounts(PRIVATE):
        script = script.replace(f" {place}", f" {tmp_path}{place}")
        script = script.replace(f'"{place}', f'"{tmp_path}{place}')
    for _ in range(2):  # a pod starts again
        subprocess.run([*PRIVATE["command"], script], check=True)
    for path in (
        "data/curator",
        "anchor/curator",
        "data/curator/secret.key",
        "secrets/tls.key",
    ):
        assert (tmp_path / path).stat().st_mode & 0o077 == 0, path
    assert (tmp_path / "secrets/tls.key").read_text() == "secret"
