-- The few snapshots that wait for their volume's turn to be hashed.
CREATE INDEX "snapshot_automatic_hash_idx" ON "snapshot"("volume_id") WHERE "hash_request"->>'automatic' = 'true';
