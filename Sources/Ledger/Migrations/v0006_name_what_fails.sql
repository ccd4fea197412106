-- Each statement of a commit demands that what was read still holds. Who is slower is told what does not, by a
-- code of our own, and nothing of the commit stays.
CREATE FUNCTION renewald.require(ok boolean, what text) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF ok IS NOT TRUE THEN
        RAISE EXCEPTION USING ERRCODE = 'RN001', MESSAGE = what || ' has changed since it was read';
    END IF;
END $$;
COMMENT ON FUNCTION renewald.require(boolean, text) IS
    'Takes the transaction back with SQLSTATE RN001, and says what, unless ok.';

REVOKE ALL ON FUNCTION renewald.require(boolean, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION renewald.require(boolean, text) TO renewald_worker;
