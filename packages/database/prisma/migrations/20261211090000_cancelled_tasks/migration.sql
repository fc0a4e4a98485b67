-- An expansion that a user cancels has ended as cancelled.
CREATE OR REPLACE FUNCTION volume_operations_ended() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public
  AS $$
  DECLARE
    was operation_facts;
    trouble text;
    is_cancelled boolean;
  BEGIN
    SELECT e.message INTO trouble FROM event e
    WHERE e.cluster_id = OLD.cluster_id AND e.transaction_id = pg_current_xact_id()::text::bigint AND e.volume_id = OLD.id
      AND e.type IN ('VolumeTaskFailed', 'SalvageRefused') LIMIT 1;
    is_cancelled := EXISTS (SELECT FROM event e
      WHERE e.cluster_id = OLD.cluster_id AND e.transaction_id = pg_current_xact_id()::text::bigint AND e.volume_id = OLD.id
        AND e.type = 'VolumeTaskCancelled');
    FOR was IN SELECT f.* FROM volume_operations(OLD) f WHERE NOT EXISTS (
      SELECT FROM volume_operations(NEW) g WHERE g.kind = f.kind AND g.requested_at = f.requested_at)
    LOOP
      PERFORM note_ended_operation(was, CASE
          WHEN was.finished_at IS NOT NULL THEN was.state
          WHEN was.kind = 'delete' THEN 'succeeded'
          WHEN trouble IS NOT NULL THEN 'failed'
          WHEN is_cancelled OR TG_OP = 'DELETE' OR NEW.deletion_requested_at IS NOT NULL THEN 'cancelled'
          ELSE 'succeeded' END,
        CASE WHEN was.finished_at IS NOT NULL THEN was.message ELSE coalesce(trouble, '') END,
        'volume', OLD.id, OLD.organization_id, OLD.cluster_id, OLD.project_id, OLD.id, OLD.attached_node_id);
    END LOOP;
    RETURN NULL;
  END
  $$;
