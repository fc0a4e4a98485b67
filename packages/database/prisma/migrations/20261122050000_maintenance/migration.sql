-- The open maintenance window of a node: its end and the reason that was given; null: none (ADR 0155).
ALTER TABLE "node" ADD COLUMN "maintenance" JSONB;
