-- An API process is ready once all migrations that it knows are applied, so it reads which are. The table is Prisma's, and is not
-- there in the empty database in which its tools try migrations out.
DO $$
BEGIN
  IF to_regclass('public._prisma_migrations') IS NOT NULL THEN
    GRANT SELECT (migration_name, finished_at, rolled_back_at) ON public._prisma_migrations TO holdfast_system;
  END IF;
END
$$;
