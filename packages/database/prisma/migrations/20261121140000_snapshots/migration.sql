-- Snapshots that people ask for. Programs of the version before make none and read all of them as they are.
ALTER TABLE "snapshot" ADD COLUMN "state" TEXT NOT NULL DEFAULT 'ready';
ALTER TABLE "snapshot" ADD CHECK ("state" IN ('creating', 'ready', 'removing', 'removed', 'failed'));
ALTER TABLE "snapshot" ADD COLUMN "size_bytes" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "snapshot" ADD COLUMN "checksums" JSONB NOT NULL DEFAULT '[]';
ALTER TABLE "snapshot" ADD COLUMN "hash_request" JSONB;
ALTER TABLE "snapshot" ADD COLUMN "trouble" JSONB;

-- A name is free again once its snapshot is deleted, and engines name what they freeze without asking anybody.
DROP INDEX "snapshot_volume_id_name_key";
CREATE UNIQUE INDEX "snapshot_live_name_key" ON "snapshot"("volume_id", "name")
  WHERE "origin" = 'user' AND "state" IN ('creating', 'ready');
CREATE INDEX "snapshot_volume_id_idx" ON "snapshot"("volume_id");

-- What the engine last said of the layers, and the one change of all of them that is wanted.
ALTER TABLE "volume" ADD COLUMN "chain" JSONB;
ALTER TABLE "volume" ADD COLUMN "layer_task" JSONB;

CREATE INDEX "volume_layer_task_idx" ON "volume"("cluster_id") WHERE "layer_task" IS NOT NULL;

-- Held up and slowed by people.
ALTER TABLE "rebuild" ADD COLUMN "paused" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "rebuild" ADD COLUMN "bandwidth_bytes_per_second" BIGINT;
