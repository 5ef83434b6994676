// Reads status frames from stdin, one JSON text per line, and answers each with one line: what the panel shows
// as {"header":…,"body":…,"card":…}, or {"fault":…} for a line that did not decode. Exits 1 after any fault.

import Foundation
import Mirror

struct Fault: Encodable {
    let fault: String
}

func answer(_ value: some Encodable) throws {
    FileHandle.standardOutput.write(try JSONEncoder().encode(value) + Data("\n".utf8))
}

var panel = Panel()
var faults = 0
while let line = readLine() {
    do {
        try answer(try panel.show(line: line))
    } catch {
        faults += 1
        try answer(Fault(fault: "\(error)"))
    }
}
exit(faults == 0 ? 0 : 1)
