-- What admission asks with every sweep, it finds by indexes of the few volumes that it is about.

CREATE INDEX "volume_hashing_idx" ON "volume"("cluster_id") WHERE "hashing" IS NOT NULL;

-- When the oldest of a volume's ready user snapshots was taken. Kept by a trigger, so that it holds for what programs of the
-- version before write, too.
ALTER TABLE "volume" ADD COLUMN "oldest_snapshot_at" TIMESTAMPTZ(3);
UPDATE "volume" v SET "oldest_snapshot_at" = s.oldest_at
FROM (
  SELECT volume_id, min(created_at) AS oldest_at FROM "snapshot"
  WHERE origin = 'user' AND state = 'ready' GROUP BY volume_id
) s
WHERE v.id = s.volume_id;

CREATE FUNCTION keep_oldest_snapshot() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public
  AS $$
  DECLARE
    of_volume uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.volume_id ELSE NEW.volume_id END;
    oldest_at timestamptz(3) := (
      SELECT min(created_at) FROM snapshot WHERE volume_id = of_volume AND origin = 'user' AND state = 'ready'
    );
  BEGIN
    UPDATE volume SET oldest_snapshot_at = oldest_at
    WHERE id = of_volume AND oldest_snapshot_at IS DISTINCT FROM oldest_at;
    RETURN NULL;
  END
  $$;
CREATE TRIGGER keep_oldest_snapshot AFTER INSERT OR DELETE OR UPDATE OF "state", "origin", "created_at" ON "snapshot"
  FOR EACH ROW EXECUTE FUNCTION keep_oldest_snapshot();

CREATE INDEX "volume_hash_check_idx" ON "volume"(
  "cluster_id", "snapshot_data_integrity", GREATEST("integrity_checked_at", "oldest_snapshot_at"), "id"
) WHERE "oldest_snapshot_at" IS NOT NULL AND "state" = 'attached' AND "robustness" = 'healthy' AND "hashing" IS NULL
  AND "fill" IS NULL;
