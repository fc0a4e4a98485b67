-- A volume's own answer to the setting replica-disk-choice. Programs of the version before do not name the column.
ALTER TABLE "volume" ADD COLUMN "replica_disk_choice" TEXT NOT NULL DEFAULT 'ignored';
ALTER TABLE "volume" ADD CHECK ("replica_disk_choice" IN ('ignored', 'spread', 'pack'));

-- Why a replica has no place: with the replica, or with the volume where there is no replica yet.
ALTER TABLE "replica" ADD COLUMN "explanation" JSONB;
ALTER TABLE "volume" ADD COLUMN "explanation" JSONB;
