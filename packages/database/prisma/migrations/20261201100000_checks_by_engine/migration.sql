-- Volumes of each data engine may be checked at times of their own. Programs of the version before still find theirs by it.
DROP INDEX "volume_hash_check_idx";
CREATE INDEX "volume_hash_check_idx" ON "volume"(
  "cluster_id", "snapshot_data_integrity", "data_engine", GREATEST("integrity_checked_at", "oldest_snapshot_at"), "id"
) WHERE "oldest_snapshot_at" IS NOT NULL AND "state" = 'attached' AND "robustness" = 'healthy' AND "hashing" IS NULL
  AND "fill" IS NULL;
