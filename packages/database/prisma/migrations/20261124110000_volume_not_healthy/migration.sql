-- The look at a cluster's risk reads the volumes that are not healthy: few, of many.
CREATE INDEX "volume_not_healthy_idx" ON "volume" ("cluster_id", "id") WHERE "robustness" <> 'healthy';
