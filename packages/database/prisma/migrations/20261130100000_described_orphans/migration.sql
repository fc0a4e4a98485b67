-- What an orphan stores of itself and its volume, with the key that admits to it. Programs of the version before neither read nor write it.
ALTER TABLE "orphan" ADD COLUMN "described_with_secret" JSONB;
-- Recoveries read orphans by their volumes.
CREATE INDEX "orphan_cluster_id_volume_id_idx" ON "orphan"("cluster_id", "volume_id");
