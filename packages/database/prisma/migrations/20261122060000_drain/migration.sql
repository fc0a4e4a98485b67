-- The drain of a node that was asked for, and how far it is; null: none (ADR 0156).
ALTER TABLE "node" ADD COLUMN "drain" JSONB, ADD COLUMN "drain_status" JSONB;
