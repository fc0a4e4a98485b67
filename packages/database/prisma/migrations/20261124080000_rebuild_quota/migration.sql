-- How many rebuilds of an organization or a project may run at once. No trigger refuses one more: admission lets it wait.
ALTER TABLE "quota" ADD COLUMN "running_rebuilds_max" BIGINT;
ALTER TABLE "quota" ADD CHECK ("running_rebuilds_max" BETWEEN 0 AND 9007199254740991);
