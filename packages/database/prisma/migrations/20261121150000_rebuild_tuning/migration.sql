-- What a running rebuild may copy now, and what its engine was last told.
ALTER TABLE "rebuild" ADD COLUMN "granted_bytes_per_second" BIGINT;
ALTER TABLE "rebuild" ADD COLUMN "tuned" JSONB;
