-- Answers of a volume to settings that came after the columns of the first eight (ADR 0154).
ALTER TABLE "volume" ADD COLUMN "overrides" JSONB NOT NULL DEFAULT '{}';
