-- Lists of volumes are by name unless a user says otherwise; so are pages of all clusters. Streams of an organization follow its
-- events over all clusters.
CREATE INDEX "volume_cluster_id_name_id_idx" ON "volume" ("cluster_id", "name", "id");
CREATE INDEX "volume_organization_id_name_id_idx" ON "volume" ("organization_id", "name", "id");
CREATE INDEX "event_organization_id_transaction_id_id_idx" ON "event" ("organization_id", "transaction_id", "id");
