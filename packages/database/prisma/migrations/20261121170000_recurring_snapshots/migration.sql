-- Snapshots that are taken of a volume again and again, and when the next one of them is due. Programs of the version
-- before do not name these columns: a volume that they make has none.
ALTER TABLE "volume" ADD COLUMN "recurring_snapshots" JSONB NOT NULL DEFAULT '[]';
ALTER TABLE "volume" ADD COLUMN "recurring_due_at" TIMESTAMPTZ(3);
-- Which of them took it.
ALTER TABLE "snapshot" ADD COLUMN "recurring_name" TEXT;
