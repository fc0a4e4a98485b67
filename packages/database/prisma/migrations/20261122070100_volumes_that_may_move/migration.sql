-- Volumes that ask for a better place of their own: whether there are any is asked when a node or disk opens (ADR 0161).
CREATE INDEX "volume_may_move_idx" ON "volume"("cluster_id")
  WHERE "replica_auto_balance" IN ('least-effort', 'best-effort') OR "data_locality" = 'best-effort';
