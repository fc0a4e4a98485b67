-- A volume's own answers to settings of snapshots and rebuilds. Programs of the version before do not name the columns.
ALTER TABLE "volume" ADD COLUMN "snapshot_data_integrity" TEXT NOT NULL DEFAULT 'ignored';
ALTER TABLE "volume" ADD CHECK ("snapshot_data_integrity" IN ('ignored', 'disabled', 'enabled', 'fast-check'));
ALTER TABLE "volume" ADD COLUMN "snapshot_max_count" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "volume" ADD COLUMN "offline_rebuilding" TEXT NOT NULL DEFAULT 'ignored';
ALTER TABLE "volume" ADD CHECK ("offline_rebuilding" IN ('ignored', 'enabled', 'disabled'));
-- When its snapshots were last checked, and its turn to hash them now.
ALTER TABLE "volume" ADD COLUMN "integrity_checked_at" TIMESTAMPTZ(3);
ALTER TABLE "volume" ADD COLUMN "hashing" JSONB;
