-- Whether a rebuild was admitted to purge before it copies; it counts as a background task while it does.
ALTER TABLE "rebuild" ADD COLUMN "purges_first" BOOLEAN NOT NULL DEFAULT false;
-- Since when a running rebuild stands still for one whose volume is on its last copy.
ALTER TABLE "rebuild" ADD COLUMN "preempted_at" TIMESTAMPTZ(3);
