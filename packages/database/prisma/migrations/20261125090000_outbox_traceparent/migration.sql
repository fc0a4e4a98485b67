-- The trace of the request that wrote the row, so that what it leads to is part of that trace.
ALTER TABLE "outbox" ADD COLUMN "traceparent" TEXT;
