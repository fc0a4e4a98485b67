-- From where a new volume is filled before anybody may use it.
ALTER TABLE "volume" ADD COLUMN "fill" JSONB;
CREATE INDEX "volume_fill_source_idx" ON "volume"(("fill"->>'sourceVolumeId')) WHERE "fill" IS NOT NULL;
