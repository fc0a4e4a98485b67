-- Since when a volume may be purged or filled. Programs of the version before do not name the column, and wait for nothing.
ALTER TABLE "volume" ADD COLUMN "turn_at" TIMESTAMPTZ(3);
CREATE INDEX "volume_turn_idx" ON "volume"("cluster_id") WHERE "turn_at" IS NOT NULL;
