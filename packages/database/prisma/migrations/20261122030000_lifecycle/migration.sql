-- What belongs to a volume's state, and nothing else: the program reads these columns as one value (ADR 0149). All versions
-- so far write them like this, so existing rows pass.
ALTER TABLE "volume" ADD CONSTRAINT "volume_lifecycle_check" CHECK (
  CASE "state"
    WHEN 'creating' THEN "attached_node_id" IS NULL
    WHEN 'detached' THEN "attached_node_id" IS NULL AND "attachment" IS NULL
    WHEN 'attaching' THEN "attachment" IS NOT NULL
    WHEN 'attached' THEN "attached_node_id" IS NOT NULL AND "attachment" IS NOT NULL AND "endpoint" IS NOT NULL
    WHEN 'detaching' THEN "attached_node_id" IS NOT NULL
    WHEN 'deleting' THEN "attachment" IS NULL AND "deletion_requested_at" IS NOT NULL
  END
  AND ("endpoint" IS NULL OR "state" = 'attached')
  AND (NOT "detach_forced" OR ("attached_node_id" IS NOT NULL AND "state" IN ('detaching', 'deleting')))
  AND ("deletion_requested_at" IS NULL OR "state" = 'deleting')
);
