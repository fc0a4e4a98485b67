import { defineConfig } from 'prisma/config';

/** For Prisma's CLI only: the programs connect with the URLs in their own configuration. */
export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_OWNER_URL ?? 'postgresql://localhost/holdfast' },
});
