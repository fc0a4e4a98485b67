-- A copy that its node does not find any more is told of by the agents' reports; null: it was reported last, or nothing is known.
ALTER TABLE "replica" ADD COLUMN "unreported_since" TIMESTAMPTZ(3);
