-- Request to forget a node that is gone for good: when, and the volumes of which a loss was accepted; null: none (ADR 0339).
ALTER TABLE "node" ADD COLUMN "forget" JSONB;
