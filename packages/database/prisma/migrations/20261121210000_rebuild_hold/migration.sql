-- A state of the volume during which its copies are not rebuilt. Programs of the version before do not name the column.
ALTER TABLE "volume" ADD COLUMN "rebuild_hold" TEXT;
ALTER TABLE "volume" ADD CHECK ("rebuild_hold" IN ('migrating', 'restoring', 'standby'));
CREATE INDEX "volume_rebuild_hold_idx" ON "volume"("cluster_id") WHERE "rebuild_hold" IS NOT NULL;
