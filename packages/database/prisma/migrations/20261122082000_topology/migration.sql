-- Zones and regions in which copies of a volume may be: a list of terms, any of which has to match; empty: anywhere.
ALTER TABLE "volume" ADD COLUMN "topology_requirement" JSONB NOT NULL DEFAULT '[]';
