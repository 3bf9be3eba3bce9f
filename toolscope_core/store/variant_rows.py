"""Document variants on offer, by what the tool says: for all versions of a catalog."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlmodel import select

from toolscope_core.model.tool import Augmentation
from toolscope_core.store.catalog_rows import catalog_row
from toolscope_core.store.engine import Store
from toolscope_core.store.tables import VariantRow


@dataclass(frozen=True, slots=True)
class OfferedVariant:
    """A variant, and the file that brought it."""

    variant: Augmentation
    source: str


def keep_variants(
    store: Store, catalog_id: int, source: str, variants: Mapping[str, Augmentation]
) -> None:
    """Keep variants by fingerprint, in place of earlier ones of the same tools."""
    with store.write() as session:
        catalog = catalog_row(session, store, catalog_id).name
        for fingerprint, variant in variants.items():
            session.merge(
                VariantRow(
                    name=catalog,
                    fingerprint=fingerprint,
                    source=source,
                    expanded=variant.expanded,
                    questions=list(variant.questions),
                )
            )


def list_variants(store: Store, catalog_id: int) -> dict[str, OfferedVariant]:
    """The variants on offer for a catalog, by fingerprint."""
    with store.read() as session:
        catalog = catalog_row(session, store, catalog_id).name
        rows = session.exec(select(VariantRow).where(VariantRow.name == catalog))
        return {
            row.fingerprint: OfferedVariant(
                Augmentation(row.expanded, tuple(row.questions)), row.source
            )
            for row in rows
        }
