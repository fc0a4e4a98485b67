-- When the node's agent, which had missed a heartbeat, was asked and gave no answer. It says nothing any more once a later heartbeat
-- is stored (ADR 0310).
ALTER TABLE "node" ADD COLUMN "unanswered_at" TIMESTAMPTZ(3);
