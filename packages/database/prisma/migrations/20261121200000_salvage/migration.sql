-- What copies said when too few of them answered, and with which of them a person wants to go on. Programs of the version
-- before name neither column.
ALTER TABLE "volume" ADD COLUMN "survey" JSONB;
ALTER TABLE "volume" ADD COLUMN "salvage" JSONB;
