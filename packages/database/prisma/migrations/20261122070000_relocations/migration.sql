-- Copies that move: why, and which copy goes afterwards; null: the replica replaces none (ADR 0160).
ALTER TABLE "replica" ADD COLUMN "relocation" JSONB;
-- All that are under way in a cluster, read with each volume; few at a time.
CREATE INDEX "replica_relocation_idx" ON "replica"("volume_id") WHERE "relocation" IS NOT NULL;
-- Such a rebuild waits behind those of missing copies.
ALTER TABLE "rebuild" ADD COLUMN "relocates" BOOLEAN NOT NULL DEFAULT false;

-- What auto-balance remembers of a volume, and when a node came back or a disk became too full (ADR 0161).
ALTER TABLE "volume" ADD COLUMN "balance" JSONB;
ALTER TABLE "node" ADD COLUMN "returned_at" TIMESTAMPTZ(3);
ALTER TABLE "disk" ADD COLUMN "pressed_at" TIMESTAMPTZ(3);
-- Grows with each move that auto-balance begins, so that of two begun at once the second is decided again.
ALTER TABLE "cluster" ADD COLUMN "balance_version" INTEGER NOT NULL DEFAULT 1;
