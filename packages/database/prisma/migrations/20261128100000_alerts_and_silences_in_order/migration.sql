-- Pages of both lists are read in their order, and silences that have not ended by it.
CREATE INDEX "alert_cluster_id_since_id_idx" ON "alert"("cluster_id", "since", "id");
CREATE INDEX "silence_cluster_id_ends_at_id_idx" ON "silence"("cluster_id", "ends_at", "id");
DROP INDEX "silence_cluster_id_ends_at_idx";
