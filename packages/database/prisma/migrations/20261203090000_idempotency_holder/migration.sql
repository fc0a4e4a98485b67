-- The API process that carries the request out, by the advisory lock that it holds as long as it lives. NULL: one of a version
-- before this, or that had no such lock when it began.
ALTER TABLE "idempotency_key" ADD COLUMN "holder" BIGINT;
