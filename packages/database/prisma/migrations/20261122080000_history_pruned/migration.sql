-- The audit log is pruned where `audit-retention-days` says so, by the system role alone: no tenant's request deletes entries.
GRANT DELETE ON "audit_entry" TO holdfast_system;
CREATE INDEX "event_cluster_id_at_idx" ON "event"("cluster_id", "at");
CREATE INDEX "audit_entry_organization_id_at_idx" ON "audit_entry"("organization_id", "at");
CREATE INDEX "rebuild_cluster_id_finished_at_idx" ON "rebuild"("cluster_id", "finished_at") WHERE "finished_at" IS NOT NULL;
