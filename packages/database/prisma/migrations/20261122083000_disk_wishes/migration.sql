-- Disks that users add to a node and take off it. Their agents hear of it with the answer to a heartbeat.
ALTER TABLE "disk" ADD COLUMN "added_at" TIMESTAMPTZ(3),
  ADD COLUMN "configured_bytes" BIGINT,
  ADD COLUMN "removal_requested_at" TIMESTAMPTZ(3);
