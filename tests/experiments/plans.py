"""A very small plan of a reproduction."""

from marlene.experiments.reproduce import Plan

PLAN = Plan(
    seeds=(1, 2),
    data_sets=("yeast",),
    limit=120,
    drift_types=("AA",),
    sizes=(10,),
    source_size=10,
    panels=(("AA", 10),),
    transfer=("AA", 10),
    absent=(("imdb", "the disk is full"),),
)
