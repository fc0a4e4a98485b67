-- Verifications that run: counted before another one begins, and there are few.
CREATE INDEX "volume_verifying_idx" ON "volume" ("cluster_id") WHERE "verification" ->> 'state' = 'running';
