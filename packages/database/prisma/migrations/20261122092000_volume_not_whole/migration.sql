-- Volumes that lack full copies: what-ifs ask for them, and there are few.
CREATE INDEX "volume_not_whole_idx" ON "volume" ("cluster_id", "id") WHERE "robustness" IN ('degraded', 'faulted');
