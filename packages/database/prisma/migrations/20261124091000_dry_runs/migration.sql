-- A dry run stands in the audit log as what it is: it has changed nothing.
ALTER TABLE "audit_entry" DROP CONSTRAINT "audit_entry_result_check";
ALTER TABLE "audit_entry" ADD CONSTRAINT "audit_entry_result_check" CHECK ("result" IN ('done', 'refused', 'dry'));
