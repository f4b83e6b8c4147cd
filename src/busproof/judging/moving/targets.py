"""The namespace that a client moves to, by its name."""

from busproof import vocabulary as v
from busproof.errors import UsageError
from busproof.spec import Catalogue, name_namespace

__all__ = ["name_profile", "name_target", "target_profile"]


def name_profile(profile: v.Profile) -> str:
    """Return the name of the namespace that a profile describes, as `target_profile` takes it."""
    partitions = f":{profile.namespace_partitions}" if profile.is_partitioned else ""
    return f"{profile.edition}/{profile.tier.value}{partitions}"


def name_target(target: v.Profile, text: str) -> str:
    """Return the name of a target; a reading is added, because the namespace's name lacks it."""
    return f"{name_profile(target)}, {text}" if "=" in text else name_profile(target)


def target_profile(catalogue: Catalogue, source: v.Profile, text: str) -> v.Profile:
    """Return the profile of the namespace that a text names beside another one.

    Args:
        catalogue: the catalogue of rules.
        source: the profile of the namespace that the clients use; what the text leaves open is
            as there.
        text: a namespace as `busproof rules --diff` takes it, an edition, or `AMBIGUITY=READING`.

    Raises:
        UsageError: there is no such namespace or reading, or it is the one that the clients use.
    """
    if "=" in text:
        target = _with_reading(catalogue, source, text)
    else:
        named = name_namespace(catalogue, text)
        stays = named.tier is None
        partitions = source.namespace_partitions if stays else named.partitions
        tier = source.tier.value if stays or named.tier is None else named.tier
        is_alike = (tier, partitions) == (source.tier.value, source.namespace_partitions)
        target = v.profile_for(
            catalogue,
            edition=named.edition or source.edition,
            tier=tier,
            readings=_reachable(catalogue, source),
            partitions=source.partitions if is_alike else None,
            namespace_partitions=partitions,
            messaging_units=source.messaging_units if is_alike else None,
        )
    if target == source:
        raise UsageError(
            f"{text} is the namespace that the clients use already ({name_profile(source)}); name "
            "another one"
        )
    return target


def _with_reading(catalogue: Catalogue, source: v.Profile, text: str) -> v.Profile:
    name, _, reading = text.partition("=")
    return v.profile_for(
        catalogue,
        edition=source.edition,
        tier=source.tier.value,
        readings={**_reachable(catalogue, source), name: reading},
        partitions=source.partitions,
        namespace_partitions=source.namespace_partitions,
        messaging_units=source.messaging_units,
    )


def _reachable(catalogue: Catalogue, profile: v.Profile) -> dict[str, str]:
    """Return the readings of a profile that a run can be held to."""
    return {
        name: reading
        for name, reading in profile.readings.items()
        if reading in catalogue.ambiguity(name).choices
    }
