-- After a restore from a backup a volume attaches only when all its members answer; null: nothing to catch up on.
ALTER TABLE "volume" ADD COLUMN "restored_at" TIMESTAMPTZ(3);
