/// The style of the page: readable on a phone, in the dark and on paper.
enum PageStyle {
    /// SHA-256 of the sheet, base64: browsers drop a style sheet that has another. A test tells it
    /// anew.
    static let digest = "f1P66jDp4aKgPooa0sqm2ugXGSu2CW3AtHtEhanHsM0="

    static let sheet: StaticString = """
        :root{color-scheme:light dark;--paper:#fff;--card:#f6f7f9;--ink:#1b1f24;--quiet:#5b6470;\
        --line:#d5dae1;--good:#1a7f4b;--bad:#b3261e;--warn:#b26a00;--note:#2a62b0;--ahead:#a9d9bf}
        @media screen and (prefers-color-scheme:dark){:root{--paper:#14171b;--card:#1d2127;\
        --ink:#e7eaee;--quiet:#9aa4b1;--line:#363d47;--good:#46c184;--bad:#ff8378;--warn:#f0b04f;\
        --note:#86b6ff;--ahead:#24573f}}
        *{box-sizing:border-box}
        body{margin:0 auto;max-width:62rem;padding:1.5rem 1rem 3rem;background:var(--paper);\
        color:var(--ink);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",\
        sans-serif;overflow-wrap:anywhere}
        h1{font-size:1.7rem;line-height:1.2;margin:0}
        h2{font-size:1.15rem;line-height:1.3;margin:0}
        header{margin-bottom:1.25rem}
        p,ul,ol,dl{margin:0}
        .quiet{color:var(--quiet)}
        .held{border:1px solid var(--line);border-left:.35rem solid var(--bad);\
        border-radius:.4rem;background:var(--card);padding:.75rem 1rem;margin-bottom:.75rem}
        .held.active{border-left-color:var(--good)}
        .held h2{color:var(--bad)}
        .held.active h2{color:var(--good)}
        .held ul{padding-left:1.1rem}
        .held.past{border-left-color:var(--warn)}
        .held.past h2{color:var(--warn)}
        .jump{margin-top:.75rem;font-size:.9rem}
        a{color:var(--note)}
        details{font-size:.85rem;color:var(--quiet);margin-top:.2rem}
        summary{cursor:pointer}
        figure{margin:1.25rem 0;border:1px solid var(--line);border-radius:.4rem;padding:.5rem}
        figcaption{display:flex;flex-wrap:wrap;gap:.25rem 1.1rem;padding:.5rem;\
        font-size:.85rem;color:var(--quiet)}
        figcaption span{display:inline-flex;align-items:center;gap:.4rem}
        svg{display:block}
        figure>svg{width:100%;height:auto}
        .narrow{display:none}
        svg text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;\
        fill:var(--ink)}
        svg .title{font-weight:600;paint-order:stroke;stroke:var(--paper);stroke-width:3px}
        svg .label{fill:var(--quiet);font-size:11px;text-anchor:middle}
        .tick{stroke:var(--line);stroke-dasharray:1 3}
        .rule{stroke:var(--quiet)}
        .now line{stroke:var(--note);stroke-dasharray:4 3}
        .now .label{fill:var(--note);font-weight:600}
        .bar,.check,.event{print-color-adjust:exact;-webkit-print-color-adjust:exact}
        .bar.granted{fill:var(--good)}
        .bar.ahead{fill:var(--ahead)}
        .bar.grace{fill:var(--warn)}
        .bar.held{fill:var(--note)}
        .bar.none{fill:var(--quiet)}
        .bar.unknown{fill:none;stroke:var(--quiet);stroke-dasharray:3 3}
        .check.verdict{fill:var(--ink)}
        .check.doubt{fill:var(--warn)}
        .check.failure{fill:var(--bad)}
        .event{stroke:var(--paper);stroke-width:1}
        .event.grant{fill:var(--good)}
        .event.revoke{fill:var(--bad)}
        .event.notice{fill:var(--note)}
        .purchase{margin-top:2rem}
        dl{display:grid;grid-template-columns:6.5rem 1fr;gap:.1rem .5rem}
        dt{color:var(--quiet);overflow-wrap:normal}
        dd{margin:0;min-width:0}
        .chain{list-style:none;padding:0;margin:1rem 0 0 .35rem;border-left:2px solid var(--line)}
        .chain>li{position:relative;padding:0 0 1.1rem 1.1rem;break-inside:avoid}
        .chain>li::before{content:"";position:absolute;left:-.4rem;top:.5rem;width:.7rem;\
        height:.7rem;border-radius:50%;background:var(--quiet);\
        border:2px solid var(--paper);print-color-adjust:exact}
        .chain>li.grant::before{background:var(--good)}
        .chain>li.revoke::before{background:var(--bad)}
        .chain>li.notice::before{background:var(--note)}
        .chain>li.failure::before{background:var(--warn)}
        .chain h3{font-size:1rem;margin:0}
        .chain time{display:block;font-size:.85rem;font-weight:400;color:var(--quiet);\
        font-variant-numeric:tabular-nums}
        .chain dl{font-size:.9rem;margin-top:.2rem;\
        grid-template-columns:calc(6.5rem - 1.45rem - 2px) 1fr}
        .chain dd.event{stroke:none}
        .aside{color:var(--quiet)}
        .next{margin-top:1rem;border:1px dashed var(--line);border-radius:.4rem;\
        padding:.5rem .75rem}
        table{border-collapse:collapse;width:100%;margin:.5rem 0 1.5rem;font-size:.95rem}
        caption{text-align:left;font-weight:600;padding:.35rem 0}
        th,td{text-align:left;vertical-align:top;padding:.35rem .75rem .35rem 0;\
        overflow-wrap:normal;\
        border-bottom:1px solid var(--line)}
        th{font-weight:400;color:var(--quiet)}
        .id{overflow-wrap:anywhere}
        .count{text-align:right;font-variant-numeric:tabular-nums}
        .plot{fill:none;stroke-width:2}
        .they{stroke:var(--bad)}
        .we{stroke:var(--warn)}
        .unsettled{stroke:var(--quiet);stroke-dasharray:4 3}
        @media screen and (max-width:40rem){.wide{display:none}.narrow{display:block}\
        dl{grid-template-columns:5.5rem 1fr}.chain dl{grid-template-columns:4rem 1fr}\
        figure{padding:.5rem 0}}
        @media print{:root{font-size:10pt}body{max-width:none;padding:0}}
        """
}
